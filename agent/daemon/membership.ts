import { existsSync } from 'node:fs'
import { ControlPlane } from '#agent/control-plane.ts'
import { TrustStore } from '#agent/trust/store.ts'
import { readMachineKey, readTeam } from '#agent/trust/team.ts'
import { endAllOf } from './requests.ts'
import { alarm, type Membership, type Runtime, record } from './runtime.ts'

/** What this home has joined, ready to be spoken for; undefined when nothing, or when its files cannot be read. */
export function join(runtime: Runtime): Membership | undefined {
  const team = readTeam(runtime.home)
  // without its key the machine can ask and report nothing, but the rules hold all the same
  const key = readMachineKey(runtime.home)
  if (!team) return undefined
  // what the journal has seen counts for the machine that it speaks of
  const { joined, rulesSeen } = runtime.state
  const trust = new TrustStore(
    runtime.home,
    team,
    runtime.now,
    error => {
      runtime.log(`the disk: ${String(error)}`)
      alarm(runtime, 'disk_full')
    },
    joined?.machine === team.machine ? rulesSeen : undefined,
  )
  return { team, key, trust, controlPlane: new ControlPlane(team.origin, team.token) }
}

/** Joining and leaving while the daemon runs; true when something has changed. Leaving forgets rules, pin and token. */
export function noteMembership(runtime: Runtime): boolean {
  const team = readTeam(runtime.home)
  const known = runtime.membership?.team
  if (known?.machine === team?.machine && known?.token === team?.token) return false
  // a file that cannot be read just now is no leaving: only one that is gone loosens anything
  if (!team && existsSync(runtime.home.team)) return false
  runtime.membership = join(runtime)
  noteJoined(runtime)
  return true
}

/** Chains the rules in force when they are newer than any that the journal knows; true when they are. */
export function noteRules(runtime: Runtime, trust: TrustStore): boolean {
  const set = trust.rules()
  const { root } = trust
  if (!set || !root || set.set.version <= (runtime.state.rulesSeen?.version ?? 0)) return false
  const { version, rootSeq } = set.set
  record(runtime, { kind: 'rules', version, digest: set.digest, rootSeq, rootDigest: root.digest })
  return true
}

/**
 * Chains that this home speaks for another machine now, or for none. What was before is not told to whom it joined after.
 * A root that was taken as it came is told once, and shown with the machine for as long as it holds.
 */
export function noteJoined(runtime: Runtime): void {
  const machine = runtime.membership?.team.machine
  const { joined } = runtime.state
  // a file that cannot be read just now is no leaving
  if (joined && !machine && existsSync(runtime.home.team)) return
  if (joined && joined.machine !== machine) {
    endAllOf(runtime, joined.machine, 'left')
    record(runtime, { kind: 'left', machine: joined.machine })
  }
  if (machine && joined?.machine !== machine) {
    record(runtime, { kind: 'joined', machine })
    runtime.counters.dropPending()
    runtime.sessions.dropUnguarded()
  }
  if (runtime.membership) noteRules(runtime, runtime.membership.trust)
  if (runtime.membership?.team.firstUse && !runtime.state.alarms.has('first_use_pin')) alarm(runtime, 'first_use_pin')
}
