import { otlpToken } from '#agent/crypto.ts'
import { readSecret } from '#agent/daemon/identity.ts'
import { askDaemon, readDaemonDoor } from '#agent/daemon-client.ts'
import { columns, plain } from '#agent/terminal.ts'
import type { UsageStatus } from '#agent/usage/usage.ts'
import type { Command } from './command.ts'
import { EXIT } from './exit.ts'
import { telemetryWords } from './usage-words.ts'

export const telemetry: Command = {
  name: 'telemetry',
  summary: 'how a client whose records are not read here sends its usage, and what came of it',
  about:
    'Prints the environment of a client that shall tell of its model calls by OpenTelemetry: one that runs under another home or in a container on this machine’s network, or a program that follows the conventions for generative AI. The token in it opens this one door. It is printed on a terminal only, never into a pipe. Where this machine reads a client’s own records, what the client tells is left out, so that nothing counts twice.',
  examples: [
    ['holdpoint telemetry', 'copy the lines into the client’s environment'],
    ['holdpoint telemetry --json', 'what was told so far, without the token'],
  ],
  async run({ home, json, terminal }) {
    const status = await askDaemon<UsageStatus>(home, 'GET', '/api/usage')
    const endpoint = `http://127.0.0.1:${readDaemonDoor(home)!.port}`
    if (json) {
      terminal.json({ endpoint, protocols: ['http/protobuf', 'http/json'], told: status.telemetry ?? null })
      return EXIT.ok
    }
    const isShown = Boolean(process.stdout.isTTY)
    const token = isShown ? otlpToken(readSecret(home)) : 'TOKEN'
    for (const [name, value] of [
      ['OTEL_EXPORTER_OTLP_ENDPOINT', endpoint],
      ['OTEL_EXPORTER_OTLP_PROTOCOL', 'http/protobuf'],
      ['OTEL_EXPORTER_OTLP_HEADERS', `Authorization=Bearer%20${token}`],
      ['OTEL_LOGS_EXPORTER', 'otlp'],
      ['CLAUDE_CODE_ENABLE_TELEMETRY', '1'],
    ])
      terminal.line(`export ${name}=${value}`)
    terminal.line('# whose the calls are, where no rule says so: OTEL_RESOURCE_ATTRIBUTES=holdpoint.tenant=acme')
    if (!isShown) terminal.note('The token is printed on a terminal only.')
    for (const line of columns(telemetryWords(status).map(([label, text]) => [`# ${label}`, plain(text, 400)])))
      terminal.line(line)
    return EXIT.ok
  },
}
