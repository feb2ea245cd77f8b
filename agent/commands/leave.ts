import { waitForDaemonToKnow } from '#agent/daemon-client.ts'
import { checkPerson, confirmWord } from '#agent/guard/person.ts'
import { plain } from '#agent/terminal.ts'
import { forgetTeam, readTeam } from '#agent/trust/team.ts'
import type { Command } from './command.ts'
import { askPlane, PlaneRefusal } from './control-plane.ts'
import { CommandFailure, EXIT } from './exit.ts'

export const leave: Command = {
  name: 'leave',
  summary: 'leave the organisation and forget its rules (a person at a terminal only)',
  options: { force: { type: 'boolean', help: 'forget everything here even if the control plane cannot be told' } },
  about:
    'Revokes this machine at the control plane, then forgets the organisation’s rules, the pinned keys and the token. Your own rules in config.yaml and the journal stay. ' +
    'The organisation keeps its record of this machine and sees that it left.',
  examples: [
    ['holdpoint leave', 'asks for the word “leave”'],
    ['holdpoint leave --force', 'when the control plane is gone'],
  ],
  async run({ flags, home, json, terminal }) {
    const team = readTeam(home)
    if (!team) throw notJoined()
    checkPerson(home.root)
    confirmWord(
      `The rules of ${plain(team.org.name)} will no longer hold here, and the organisation sees that this machine left.`,
      'leave',
    )
    let told = true
    try {
      await askPlane(team.origin, { method: 'DELETE', path: 'machine', token: team.token })
    } catch (error) {
      // a token that is refused was revoked there before: nothing is left to be told
      const revoked = error instanceof PlaneRefusal && (error.status === 401 || error.status === 404)
      if (!revoked) {
        if (flags.force !== true) {
          const why = error instanceof CommandFailure ? error.message : 'The control plane did not answer.'
          throw new CommandFailure(
            error instanceof CommandFailure && error.exit === EXIT.unreachable ? 'unreachable' : 'failed',
            'not_left',
            `Not left. ${why}`,
            'Try again later, or forget it here alone with --force; an admin can then revoke the machine.',
          )
        }
        told = false
      }
    }
    forgetTeam(home)
    const daemonKnows = await waitForDaemonToKnow(home, undefined)
    if (json) terminal.json({ left: team.org.slug, told })
    else {
      terminal.line(
        `Left ${plain(team.org.name)}. Its rules, the pinned keys and the token are gone from this machine.`,
      )
      if (!told) terminal.line('The control plane could not be told: ask an admin to revoke this machine there.')
      if (!daemonKnows) terminal.line('The running daemon has not let go of them yet: restart it.')
      terminal.line(
        'Your own rules in config.yaml stay in force, and the hooks stay: `holdpoint hooks uninstall` takes them out.',
      )
    }
    return EXIT.ok
  },
}

export const notJoined = () =>
  new CommandFailure(
    'missing',
    'not_joined',
    'This machine has joined no organisation.',
    'Join with `holdpoint join` and the line of the Machines page.',
  )
