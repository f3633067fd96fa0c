#!/usr/bin/env node
// Starts the program that npm installed for this platform, under the name that was typed.
"use strict";

const { spawn } = require("node:child_process");
const path = require("node:path");

const owner = `codefleet-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${owner}/bin/fleet`);
} catch {
  console.error(`codefleet: the package ${owner} is not installed`);
  console.error("It carries the program for this platform. npm installs it unless optional dependencies are left out;");
  console.error("where there is no such package, build codefleet with cargo.");
  process.exit(1);
}

const name = path.basename(process.argv[1], ".js");
const child = spawn(program, process.argv.slice(2), { argv0: name, stdio: "inherit" });
// A terminal sends Ctrl-C to the program, too.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`codefleet: cannot start ${program}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal === null) {
    process.exit(code);
  }
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
