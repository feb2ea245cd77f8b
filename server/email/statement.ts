import { type Block, layOut, type Mail } from './layout.ts'

export type StatementMailData = {
  org: string
  tenant: string
  /** `November 2026`. */
  month: string
  /** Texts with their currency, as on the page. */
  total: string
  parts: readonly (readonly [label: string, amount: string])[]
  /** Credit that goes to the next month. */
  carried?: string
  basis: 'equivalent' | 'billed'
  boundAccepted: boolean
  closedAt: string
  digest: string
  file: string
  url: string
}

const COUNTS = {
  equivalent: 'all usage at list prices',
  billed: 'usage that is paid for by use; what a plan covers is nothing',
}

/** A closed statement, to its tenant's contact, who need not be a member: it says all there is, and nothing in it acts. */
export function statementMail(data: StatementMailData): Mail {
  const { org, tenant, month, total } = data
  const blocks: Block[] = [
    {
      kind: 'text',
      text: `${org} has closed the statement of ${tenant} for ${month}. The total is ${total}. Its figures do not change any more; what turns out later comes as an adjustment on a later statement.`,
    },
    {
      kind: 'rows',
      rows: [
        ['Tenant', tenant],
        ['Month', month],
        ...data.parts,
        ['Total', total],
        ...(data.carried === undefined ? [] : [['Credit for the next month', data.carried] as const]),
        ['Counts', COUNTS[data.basis]],
        ...(data.boundAccepted
          ? [['Without a price', 'accepted at the dearest price, a line of its own'] as const]
          : []),
        ['Closed', data.closedAt],
        ['Digest', data.digest],
      ],
    },
    {
      kind: 'text',
      text: `The file ${data.file} holds every line; its column amount_shown adds up to the total.`,
    },
    { kind: 'link', label: `Open it, as a member of ${org}`, url: data.url },
    {
      kind: 'small',
      text: `The address opens for signed-in members of ${org} only. If you are none, this mail and its file are the statement; ask ${org} about it. Figures are what machines reported.`,
    },
  ]
  return layOut(`Statement of ${tenant}, ${month}: ${total}`, blocks)
}
