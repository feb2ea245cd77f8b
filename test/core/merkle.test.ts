import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { hex } from '#core/bytes.ts'
import { append, EMPTY_FRONTIER, leafHash, nodeHash, treeHash } from '#core/evidence/merkle.ts'

const sha256 = (bytes: Uint8Array) => new Uint8Array(createHash('sha256').update(bytes).digest())

/** RFC 6962 section 2.1, word for word: MTH over a list. */
function mth(leaves: Uint8Array[]): Uint8Array {
  if (leaves.length === 0) return sha256(new Uint8Array(0))
  if (leaves.length === 1) return leafHash(leaves[0]!, sha256)
  let k = 1
  while (k * 2 < leaves.length) k *= 2
  return nodeHash(mth(leaves.slice(0, k)), mth(leaves.slice(k)), sha256)
}

it('has the tree hash of RFC 6962 at every size', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 8 }), { maxLength: 70 }), leaves => {
      const frontier = leaves.reduce((f, leaf) => append(f, leafHash(leaf, sha256), sha256), EMPTY_FRONTIER)
      expect(frontier.size).toBe(leaves.length)
      expect(hex(treeHash(frontier, sha256))).toBe(hex(mth(leaves)))
    }),
  )
})

it('agrees with the published test vectors of certificate transparency', () => {
  const inputs = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f']
  const roots = [
    '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
    'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
    'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
    'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
    '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
    'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
    '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
  ]
  let frontier = EMPTY_FRONTIER
  inputs.forEach((input, i) => {
    frontier = append(frontier, leafHash(new Uint8Array(Buffer.from(input, 'hex')), sha256), sha256)
    expect(hex(treeHash(frontier, sha256))).toBe(roots[i])
  })
})
