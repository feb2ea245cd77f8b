import { Banner } from '#app/_ui/banner.tsx'
import { formatPlural } from '#app/_ui/format.ts'
import { Time } from '#app/_ui/time.tsx'
import type { MachineDetail } from '../../outputs.ts'
import { refusalWords } from '../machine-words.ts'

const upper = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** What somebody should know of a machine before anything else on its page. */
export function Notices({ machine }: { machine: MachineDetail }) {
  return (
    <>
      {machine.equivocation && (
        <Banner kind="problem" title="It was shown rules or keys that do not fit together.">
          Somebody between this machine and you, or whoever runs this control plane, presented two versions of one
          thing. It kept the last good rules. Compare digests over another channel.
        </Banner>
      )}
      {machine.clonedAt && (
        <Banner kind="problem" title="Two machines use its key.">
          Noticed <Time at={machine.clonedAt} />. Its home folder was probably copied: revoke it, and join both anew.
        </Banner>
      )}
      {machine.lastError && (
        <Banner kind="stale" title="Its last attempt to fetch rules failed.">
          {upper(refusalWords(machine.lastError))}. It keeps the last good ones.{' '}
          {machine.lastErrorAt && <Time at={machine.lastErrorAt} show="relative" />}
        </Banner>
      )}
      {machine.firstUsePin && (
        <Banner kind="stale" title="It trusted whatever it saw first.">
          It joined without the root’s digest, so nobody checked the first keys that it was shown. Compare the digest
          below with one from elsewhere, or join it anew with a full line.
        </Banner>
      )}
      {machine.unsupported.length > 0 && (
        <Banner kind="stale" title={`${formatPlural(machine.unsupported.length, 'rule')} that it cannot read.`}>
          Its connector is too old for: {machine.unsupported.join(', ')}. They hold or pass there as their own
          on_unknown says.
        </Banner>
      )}
    </>
  )
}
