/**
 * What each client does with the way in which a hook ends, as measured with the real program (its README and the effects beside its
 * payloads say how), and what we want it to do. The test beside this file holds the one against the other for every adapter.
 */
import type { Client } from '#core/client.ts'

/** What comes of a call at whose hook the client was answered so. */
export type Effect = 'runs' | 'refused' | 'asks'

/** Ways in which a hook's process ends, as a client tells them apart. */
export type Ending =
  | 'silence'
  | 'a refusal in JSON'
  | 'a refusal in JSON without a reason'
  | 'a refusal in JSON with a key that it does not know'
  | 'a question in JSON'
  | 'words for the person in JSON'
  | 'exit 2 with words'
  | 'exit 2 without words'
  | 'exit 1'
  | 'another exit code'
  | 'a signal'
  | 'no answer in time'
  | 'text that is no JSON'

type Row = Readonly<Record<Ending, Effect>>

const CLAUDE: Row = {
  silence: 'runs',
  'a refusal in JSON': 'refused',
  'a refusal in JSON without a reason': 'refused',
  'a refusal in JSON with a key that it does not know': 'refused',
  'a question in JSON': 'asks',
  'words for the person in JSON': 'runs',
  'exit 2 with words': 'refused',
  'exit 2 without words': 'refused',
  'exit 1': 'runs',
  'another exit code': 'runs',
  'a signal': 'runs',
  'no answer in time': 'runs',
  'text that is no JSON': 'runs',
}

/** Each by its command hook; opencode's module is ours and ends a call as its answer says. */
export const MEASURED: Readonly<Record<Client, Row>> = {
  'claude-code': CLAUDE,
  codex: {
    ...CLAUDE,
    'a refusal in JSON without a reason': 'runs',
    'a refusal in JSON with a key that it does not know': 'runs',
    'a question in JSON': 'runs',
    'exit 2 without words': 'runs',
  },
  gemini: {
    ...CLAUDE,
    // the run ends at once, and nobody is told why
    'a question in JSON': 'refused',
    'exit 2 without words': 'runs',
    'another exit code': 'refused',
  },
  copilot: {
    ...CLAUDE,
    // where nobody is at the keyboard
    'a question in JSON': 'refused',
    'exit 1': 'refused',
    'another exit code': 'refused',
    'a signal': 'refused',
  },
  opencode: CLAUDE,
  // by its documents
  cursor: CLAUDE,
}

/** Claude Code's hooks can be told to refuse when they fail (`onFailure`): what that leaves open. */
export const CLAUDE_BLOCKING: Row = {
  ...CLAUDE,
  'exit 1': 'refused',
  'another exit code': 'refused',
  'a signal': 'refused',
  'no answer in time': 'refused',
}

/** Where the effects of those endings were written down with the real program, and under which names. */
export const RECORDED: Partial<Record<Client, { file: string; row: Row; named: (ending: string) => string[] }[]>> = {
  'claude-code': [
    { file: 'claude/effects.PreToolUse.json', row: CLAUDE, named: name => [`allowrule/${name}`, `bypass/${name}`] },
    { file: 'claude/effects.PreToolUse.json', row: CLAUDE_BLOCKING, named: name => [`onFailure-block/${name}`] },
  ],
  codex: [{ file: 'codex/hooks/effects.json', row: MEASURED.codex, named: name => [`PreToolUse/${name}`] }],
  gemini: [{ file: 'gemini/hooks/effects.json', row: MEASURED.gemini, named: name => [name] }],
  copilot: [{ file: 'copilot/hooks/effects.json', row: MEASURED.copilot, named: name => [name] }],
}
/** The cases of those files; `a question` was asked where nobody is. */
export const CASES: Partial<Record<Ending, string[]>> = {
  silence: ['empty', 'exit0-empty'],
  'a refusal in JSON': ['deny'],
  'a refusal in JSON without a reason': ['deny-no-reason', 'deny-empty-reason'],
  'a refusal in JSON with a key that it does not know': ['unknown-key', 'deny-unknown-key'],
  'exit 2 with words': ['exit2', 'exit2-stderr'],
  'exit 2 without words': ['exit2-no-stderr'],
  'exit 1': ['exit1', 'exit1-stderr'],
  'another exit code': ['command-not-found', 'not-found'],
  'a signal': ['killed', 'killed-by-signal'],
  'no answer in time': ['timeout'],
  'text that is no JSON': ['text', 'plain-text', 'invalid-json', 'noise-before'],
}

/** A tool call as each client tells it: the least that it sends. */
export const CALLS: Readonly<Record<Client, { event: string; body: Readonly<Record<string, unknown>> }>> = {
  'claude-code': {
    event: 'PreToolUse',
    body: { session_id: 's-1', hook_event_name: 'PreToolUse', cwd: '/p', tool_name: 'Bash', tool_use_id: 'toolu_1' },
  },
  codex: {
    event: 'PreToolUse',
    body: {
      session_id: 's-1',
      hook_event_name: 'PreToolUse',
      cwd: '/p',
      model: 'm',
      tool_name: 'Bash',
      tool_use_id: 'c1',
    },
  },
  gemini: {
    event: 'BeforeTool',
    body: {
      session_id: 's-1',
      hook_event_name: 'BeforeTool',
      cwd: '/p',
      tool_name: 'run_shell_command',
      tool_input: {},
    },
  },
  copilot: {
    event: 'preToolUse',
    body: { sessionId: 's-1', timestamp: 1767225600000, cwd: '/p', toolName: 'bash', toolArgs: { command: 'true' } },
  },
  opencode: {
    event: 'PreToolUse',
    body: { session_id: 's-1', hook_event_name: 'PreToolUse', cwd: '/p', tool_name: 'bash', tool_use_id: 'call_1' },
  },
  cursor: {
    event: 'preToolUse',
    body: {
      conversation_id: 's-1',
      generation_id: 'g-1',
      hook_event_name: 'preToolUse',
      workspace_roots: ['/p'],
      cwd: '/p',
      tool_name: 'Shell',
      tool_use_id: 'c1',
      tool_input: { command: 'true' },
    },
  },
}

/** What an ended process was, as the client sees it. */
export function endingOf({ exit, stdout, stderr }: { exit: number | null; stdout: string; stderr: string }): Ending {
  if (exit === null) return 'a signal'
  if (exit === 2) return stderr.trim() === '' ? 'exit 2 without words' : 'exit 2 with words'
  if (exit === 1) return 'exit 1'
  if (exit !== 0) return 'another exit code'
  if (stdout.trim() === '') return 'silence'
  let answer: Record<string, unknown>
  try {
    answer = JSON.parse(stdout)
  } catch {
    return 'text that is no JSON'
  }
  const { hookSpecificOutput: nested, systemMessage, ...others } = answer
  const hookSpecificOutput = (nested ?? answer) as Record<string, unknown>
  const { permissionDecision, permission, decision = permissionDecision ?? permission } = hookSpecificOutput
  if (decision === 'ask') return 'a question in JSON'
  if (decision === undefined && systemMessage !== undefined) return 'words for the person in JSON'
  if (decision !== 'deny' && decision !== 'block') return 'text that is no JSON'
  const {
    permissionDecisionReason,
    reason = permissionDecisionReason,
    agent_message: message = reason,
  } = hookSpecificOutput
  if (typeof message !== 'string' || message === '') return 'a refusal in JSON without a reason'
  const isPlain = hookSpecificOutput === answer || Object.keys(others).length === 0
  return isPlain ? 'a refusal in JSON' : 'a refusal in JSON with a key that it does not know'
}

/** A daemon that decides, and what the client must then do. `asks` holds for clients that can ask. */
export const OUTCOMES = [
  { outcome: 'pass', effect: 'runs' },
  { outcome: 'ask', effect: 'asks' },
  { outcome: 'refuse', effect: 'refused' },
  { outcome: 'refuse', systemMessage: 'for the person', effect: 'refused' },
] as const

/** What goes wrong around a call that the daemon would pass, and whether it is judged all the same. */
export const FAULTS = [
  { fault: 'the daemon is away', isJudged: false },
  { fault: 'the daemon does not answer in time', isJudged: false },
  { fault: 'the daemon answers nothing', isJudged: false },
  { fault: 'the daemon answers no JSON', isJudged: false },
  { fault: 'the daemon’s answer lacks a field', isJudged: false },
  { fault: 'the daemon’s answer has a field more', isJudged: true },
  { fault: 'the daemon says that its side failed', isJudged: false },
  { fault: 'the input lacks a field', isJudged: false },
  { fault: 'the input has fields that nobody knows', isJudged: true },
  { fault: 'the input is larger than allowed', isJudged: false },
  { fault: 'the input is not UTF-8', isJudged: false },
  { fault: 'the input is no JSON', isJudged: false },
  { fault: 'our program is gone', isJudged: false },
] as const
export type Fault = (typeof FAULTS)[number]['fault']
