import { concat, type Sha256 } from '#core/bytes.ts'

/** RFC 6962 §2.1: hash of a leaf, `SHA-256(0x00 ‖ bytes)`. */
export const leafHash = (bytes: Uint8Array, sha256: Sha256): Uint8Array => sha256(concat(Uint8Array.of(0), bytes))

/** RFC 6962 §2.1: hash of an inner node, `SHA-256(0x01 ‖ left ‖ right)`. */
export const nodeHash = (left: Uint8Array, right: Uint8Array, sha256: Sha256): Uint8Array =>
  sha256(concat(Uint8Array.of(1), left, right))

/**
 * The right edge of a Merkle tree: the roots of its full subtrees, largest first. Enough to append and to know the tree hash,
 * so that a ledger of any length is kept in a few hundred bytes.
 */
export type Frontier = { size: number; nodes: Uint8Array[] }

/** Of a ledger without an entry. */
export const EMPTY_FRONTIER: Frontier = { size: 0, nodes: [] }

/** The frontier after one more leaf hash. Subtrees of equal size merge, as a binary counter carries. */
export function append(frontier: Frontier, leaf: Uint8Array, sha256: Sha256): Frontier {
  const nodes = [...frontier.nodes, leaf]
  for (let size = frontier.size; size % 2 === 1; size = (size - 1) / 2) {
    const right = nodes.pop()!
    const left = nodes.pop()!
    nodes.push(nodeHash(left, right, sha256))
  }
  return { size: frontier.size + 1, nodes }
}

/** The tree hash (RFC 6962 MTH) of everything appended so far; of nothing, the hash of no bytes. */
export function treeHash(frontier: Frontier, sha256: Sha256): Uint8Array {
  const nodes = [...frontier.nodes]
  let hash = nodes.pop() ?? sha256(new Uint8Array(0))
  while (nodes.length > 0) hash = nodeHash(nodes.pop()!, hash, sha256)
  return hash
}
