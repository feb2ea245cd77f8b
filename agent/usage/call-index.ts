/** What is known of a call by its key alone. */
export type KnownCall = {
  /** Days since 1970 of the file that it stands in. */
  day: number
  /** Names its request id; 0 = none was told. */
  request: number
  /** Names the counts that were written last. */
  counts: number
}

const FIRST_SIZE = 1024
const FIELDS = 5

/**
 * Every call of the ledger by the digest of its key: 64 bits, at which two of a million keys meet once in thirty million
 * ledgers. Twenty bytes a place, so that a year of a busy machine stays small: a map of texts would take ten times as much.
 */
export class CallIndex {
  private table = new Uint32Array(FIRST_SIZE * FIELDS)
  private places = FIRST_SIZE
  size = 0

  get(key: string): KnownCall | undefined {
    const at = this.find(...digestOf(key))
    if (this.table[at + 2] === 0) return undefined
    return { day: this.table[at + 2]! - 1, request: this.table[at + 3]!, counts: this.table[at + 4]! }
  }

  set(key: string, { day, request, counts }: KnownCall): void {
    if (this.size * 3 > this.places * 2) this.grow()
    const [high, low] = digestOf(key)
    const at = this.find(high, low)
    if (this.table[at + 2] === 0) this.size++
    // a day of 0 marks a free place
    this.table.set([high, low, day + 1, request, counts], at)
  }

  private find(high: number, low: number): number {
    const { table, places } = this
    let place = low % places
    for (;;) {
      const at = place * FIELDS
      if (table[at + 2] === 0 || (table[at] === high && table[at + 1] === low)) return at
      place = place + 1 === places ? 0 : place + 1
    }
  }

  private grow(): void {
    const { table: old } = this
    this.places *= 2
    this.table = new Uint32Array(this.places * FIELDS)
    for (let at = 0; at < old.length; at += FIELDS)
      if (old[at + 2] !== 0) this.table.set(old.subarray(at, at + FIELDS), this.find(old[at]!, old[at + 1]!))
  }
}

/** Two 32-bit halves by multiplication and mixing (as in cyrb53): ids are a provider's, and nobody gains by making two meet. */
function digestOf(text: string): [high: number, low: number] {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    high = Math.imul(high ^ unit, 2654435761)
    low = Math.imul(low ^ unit, 1597334677)
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909)
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909)
  return [high >>> 0, low >>> 0]
}

/** Thirty-two bits that stand for a text; never 0. */
export const nameOf = (text: string): number => digestOf(text)[0] || 1
