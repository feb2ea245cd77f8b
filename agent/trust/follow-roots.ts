import { crypto } from '#agent/crypto.ts'
import { AppError } from '#core/error.ts'
import { parseJws } from '#core/jws.ts'
import { followRoot, openFirstRoot, type RootEnvelope, readRoot, type TrustedRoot } from '#core/root.ts'

/**
 * The chain with what of the envelopes is new. One with the number of a root that is known here is verified as that one was:
 * well signed, it is a second root with one number, and neither is followed.
 * @throws AppError BAD_SIGNATURE, with `why: equivocation` in that case
 */
export function followRoots(
  known: readonly TrustedRoot[],
  envelopes: readonly RootEnvelope[],
  org: string,
): TrustedRoot[] {
  const chain = [...known]
  for (const envelope of envelopes) {
    if (chain.some(root => isSame(root.envelope, envelope))) continue
    const { seq } = readRoot(parseJws(envelope.signed[0] ?? '').payload)
    const taken = chain[seq - 1]
    const before = chain[seq - 2]
    const next =
      taken && before
        ? followRoot(before, envelope, crypto)
        : taken
          ? openFirstRoot(envelope, org, crypto)
          : followRoot(chain.at(-1)!, envelope, crypto)
    if (taken)
      throw new AppError('BAD_SIGNATURE', `Two different root documents with number ${next.root.seq}.`, {
        details: { why: 'equivocation' },
      })
    chain.push(next)
  }
  return chain
}

/** Envelopes over one payload are one root, whoever of the owners signed each. */
const isSame = (a: RootEnvelope, b: RootEnvelope) => payloadOf(a) !== undefined && payloadOf(a) === payloadOf(b)
const payloadOf = (envelope: RootEnvelope) => envelope.signed[0]?.split('.')[1]
