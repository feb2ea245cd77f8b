import { notFound } from 'next/navigation'
import { cache } from 'react'
import { Banner } from '#app/_ui/banner.tsx'
import { Button } from '#app/_ui/button.tsx'
import { PageHeader } from '#app/_ui/page-header.tsx'
import { isMonth, monthWords } from '#core/day.ts'
import { may, whyNotFresh } from '#core/permission.ts'
import { api } from '#server/api/caller.ts'
import { requireActor } from '#server/auth/current.ts'
import { errorCode } from '../../../../app-error.ts'
import { BackLink } from '../../../../back-link.tsx'
import { CsvLink } from '../../../../csv-link.tsx'
import { titled } from '../../../../page-title.ts'
import { againAt } from '../../../../sign-in-again.tsx'
import { StatePill } from '../../month-card.tsx'
import { basisWords, hinderWords, type StatementDetail } from '../../words.ts'
import { BillCards } from './bill-cards.tsx'
import { CloseDialog } from './close-dialog.tsx'
import { FactsCard } from './facts-card.tsx'
import { PrintButton } from './print-button.tsx'

type Params = { org: string; month: string; tenant: string }

const load = cache(async (org: string, month: string, tenant: string): Promise<StatementDetail> => {
  if (!isMonth(month) || tenant.length > 63) notFound()
  try {
    return await (await api()).statement.get({ org, month, tenant })
  } catch (error) {
    if (errorCode(error) === 'NOT_FOUND') notFound()
    throw error
  }
})

export const generateMetadata = titled<Params, StatementDetail>(
  ({ month }, { bill }) => `Statement of ${bill.tenantName}, ${monthWords(month)}`,
  ({ org, month, tenant }) => load(org, month, decodeURIComponent(tenant)),
)

export default async function StatementPage({ params }: { params: Promise<Params> }) {
  const { org, month, tenant: word } = await params
  const actor = await requireActor(org)
  const tenant = decodeURIComponent(word)
  const detail = await load(org, month, tenant)
  const { bill } = detail
  const page = `spend/statements/${month}/${encodeURIComponent(tenant)}`
  const tooOld = may(actor, 'statement.close') ? whyNotFresh(actor, new Date()) : undefined
  const hinders = bill.state === 'draft' ? bill.hinders : []
  const isUnpriced = hinders.some(({ why }) => why === 'unpriced')
  const canOpen = bill.state === 'draft' && hinders.every(({ why }) => why === 'unpriced')
  return (
    <>
      <PageHeader
        above={
          <span className="print:hidden">
            <BackLink href={`/${org}/spend/statements`}>Statements</BackLink>
          </span>
        }
        title={`${bill.tenantName}, ${monthWords(month)}`}
        facts={<StatePill state={bill.state} />}
        sub={
          <>
            Statement by {detail.org}: {basisWords(bill.basis)}, as machines reported it.
            {bill.state === 'draft' && ' This is a draft; its figures still follow what comes in.'}
          </>
        }
        actions={
          <span className="flex flex-wrap gap-2 print:hidden">
            <PrintButton />
            <CsvLink org={org} list="statement" query={{ month, tenant }} />
            {bill.state === 'draft' && canOpen && may(actor, 'statement.close') && (
              <CloseDialog
                {...{ org, month }}
                tenant={detail.tenant}
                bill={bill}
                mayAccept={may(actor, 'statement.accept_bound')}
                tooOld={tooOld && { why: tooOld.why, again: againAt(org, page) }}
              />
            )}
          </span>
        }
      />
      <div className="grid gap-4">
        {bill.state === 'draft' && hinders.length > 0 && (
          <Banner
            kind="note"
            title="It cannot be closed yet:"
            className="print:hidden"
            action={
              isUnpriced && (
                <Button size="sm" href={`/${org}/spend/rates`}>
                  Rates
                </Button>
              )
            }
          >
            {hinders.map(hinder => hinderWords(hinder, bill.period.zone)).join('; ')}.
            {isUnpriced &&
              ' Give the models a price under Rates and price the month anew, or have an owner accept the bound.'}
          </Banner>
        )}
        <BillCards bill={bill} />
        <FactsCard
          {...{ org, month, detail }}
          mayArrange={may(actor, 'statement.arrange')}
          mayChange={may(actor, 'tenant.change')}
        />
      </div>
    </>
  )
}
