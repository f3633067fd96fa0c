use clap::Args;
use fleet_server::{DEFAULT_ADDRESS, Http, serve_stdio};

use super::Context;
use crate::Done;
use crate::output::strong;

mcp_commands!();

/// Run the MCP server for AI clients
///
/// Speaks the Model Context Protocol on standard input and output, as clients expect it of a program that they start: any
/// number of them at once, all on the same queue. When a client ends, its workers keep running.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
#[command(display_order = 290)]
pub(crate) struct Mcp {
    #[command(subcommand)]
    command: Option<Command>,
    /// Serve over HTTP instead, for clients that cannot start a program; they need the token
    #[arg(long, value_name = "IP:PORT", num_args = 0..=1, default_missing_value = DEFAULT_ADDRESS)]
    http: Option<String>,
    /// Serve at an address that other machines can reach
    #[arg(long, requires = "http")]
    allow_remote: bool,
    /// Additional host name to accept
    #[arg(long, value_name = "NAME", requires = "http")]
    allow_host: Vec<String>,
}

const EXAMPLES: &str = "Examples:
  claude mcp add -s user codefleet -- fleet mcp
  fleet mcp --http                 # at http://127.0.0.1:8642/mcp
  fleet mcp token                  # what a client over HTTP has to send";

impl Mcp {
    pub(crate) async fn run(self, context: &Context) -> Done {
        if let Some(command) = self.command {
            return command.run(context).await;
        }
        let Some(address) = self.http else { return Box::pin(serve_stdio(&context.engine)).await };
        context.engine.check_outside()?;
        let server = Http::bind(&address, self.allow_remote, self.allow_host).await?;
        context.output.note(&format!("serving MCP at {}; Ctrl-C ends it", strong(&server.url())));
        server.serve(&context.engine).await
    }
}
