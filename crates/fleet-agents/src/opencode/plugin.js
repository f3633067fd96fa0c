// Tells fleet what opencode is doing: calls `fleet hook` with events that matter, one process at a time.
// It must never fail, delay or change what opencode does.
import { spawn } from "node:child_process"

// How much of a tool's output is told.
const LONGEST_OUTPUT = 2000
// How many events wait at most; the oldest are forgotten.
const MOST_WAITING = 500

let waiting = []
let isSending = false

function send() {
  if (isSending || waiting.length === 0) return
  isSending = true
  const payload = `{"events":[${waiting.join(",")}]}`
  waiting = []
  const done = () => {
    isSending = false
    send()
  }
  const child = spawn(process.env.FLEET_BIN, ["hook"], { stdio: ["pipe", "ignore", "ignore"] })
  child.once("error", () => {})
  child.once("close", done)
  child.stdin.on("error", () => {})
  child.stdin.end(payload)
}

function tell(event) {
  try {
    if (!process.env.FLEET_BIN) return
    // At once: opencode changes its objects later.
    waiting.push(JSON.stringify(event))
    if (waiting.length > MOST_WAITING) waiting.shift()
    send()
  } catch {}
}

function shortPart(part) {
  if (part.type === "text" || part.type === "reasoning") return part.time?.end ? part : undefined
  if (part.type === "step-finish") return part
  if (part.type !== "tool" || !["completed", "error"].includes(part.state?.status)) return undefined
  const { status, input, output, error } = part.state
  const short = typeof output === "string" ? output.slice(0, LONGEST_OUTPUT) : undefined
  return { ...part, state: { status, input, output: short, error } }
}

const TOLD = new Set([
  "session.created",
  "session.status",
  "session.error",
  "permission.asked",
  "permission.replied",
  "question.asked",
  "question.replied",
  "question.rejected",
])

export const Fleet = async () => ({
  event: async ({ event }) => {
    if (TOLD.has(event.type)) tell({ type: event.type, properties: event.properties })
    if (event.type !== "message.part.updated") return
    const part = event.properties?.part && shortPart(event.properties.part)
    if (part) tell({ type: event.type, properties: { sessionID: event.properties.sessionID, part } })
  },
  "chat.message": async (input, output) => {
    const parts = (output?.parts ?? []).filter((part) => part.type === "text" && !part.synthetic)
    const text = parts.map((part) => part.text).join("\n")
    tell({ type: "prompt", properties: { sessionID: input?.sessionID, text } })
  },
})
