import { CircleCheck } from 'lucide-react'
import { Banner } from '#app/_ui/banner.tsx'
import { Button } from '#app/_ui/button.tsx'
import { Card } from '#app/_ui/card.tsx'
import { EmptyState } from '#app/_ui/empty-state.tsx'
import { Field } from '#app/_ui/field.tsx'
import { PageHeader } from '#app/_ui/page-header.tsx'
import { TextInput } from '#app/_ui/text-input.tsx'
import { readAsked } from '#app/asked.ts'
import { isDay } from '#core/day.ts'
import { whyNot } from '#core/permission.ts'
import { api } from '#server/api/caller.ts'
import { requireActor } from '#server/auth/current.ts'
import { errorCode, errorRemedy } from '../../app-error.ts'
import { BackLink } from '../../back-link.tsx'
import { titled } from '../../page-title.ts'
import { ChangesCard } from './changes-card.tsx'
import { RepriceButton } from './reprice-button.tsx'

export const generateMetadata = titled('Price usage anew')

type Props = {
  params: Promise<{ org: string }>
  searchParams: Promise<Record<string, string | string[] | undefined>>
}

export default async function RepricePage({ params, searchParams }: Props) {
  const { org } = await params
  const actor = await requireActor(org)
  const asked = await readAsked(searchParams, 'from', 'published')
  const call = await api()
  const { today } = await call.rate.own({ org })
  const from = isDay(asked.from) && asked.from <= today ? asked.from : undefined
  const refusal = whyNot(actor, 'usage.reprice')
  const preview =
    from === undefined || refusal
      ? undefined
      : await call.rate.previewReprice({ org, from, to: today }).catch((error: Error) => {
          if (errorCode(error) !== 'BAD_INPUT') throw error
          return error
        })
  return (
    <>
      <PageHeader
        above={<BackLink href={`/${org}/spend/rates`}>Rates</BackLink>}
        title="Price usage anew"
        sub="What was taken keeps the price of its day. This replaces it, from a day until today, by the prices of the rules that are in force now, each holding from its own day on."
      />
      <div className="grid gap-4">
        {asked.published && (
          <Banner kind="note" title="The price is published.">
            It counts for what is used from now on. What was taken before keeps its cost unless you price it anew here.
          </Banner>
        )}
        {refusal ? (
          <Banner kind="note" title="You cannot price usage anew.">
            {refusal.why} {refusal.remedy}
          </Banner>
        ) : (
          <>
            <Card padded title="From which day">
              <form
                key={from}
                aria-label="From which day"
                method="get"
                action={`/${org}/spend/reprice`}
                className="flex flex-wrap items-end gap-3"
              >
                <Field label="From (UTC)" className="w-44">
                  <TextInput type="date" name="from" required max={today} defaultValue={from ?? today} />
                </Field>
                <Button type="submit">Show what would change</Button>
              </form>
            </Card>
            {preview instanceof Error && (
              <Banner kind="problem" title={preview.message}>
                {errorRemedy(preview)}
              </Banner>
            )}
            {preview &&
              !(preview instanceof Error) &&
              from !== undefined &&
              (preview.rows.length === 0 ? (
                <Card>
                  <EmptyState
                    headingLevel={2}
                    icon={<CircleCheck aria-hidden />}
                    title="Nothing would change"
                    action={<Button href={`/${org}/spend/rates`}>Back to the rates</Button>}
                  >
                    Every call from {from} on has the price that the rules in force give it.
                  </EmptyState>
                </Card>
              ) : (
                <>
                  <ChangesCard org={org} preview={preview} from={from} to={today} />
                  <RepriceButton
                    org={org}
                    from={from}
                    to={today}
                    months={[...new Set(preview.rows.filter(({ closed }) => closed).map(({ month }) => month))]}
                  />
                </>
              ))}
          </>
        )}
      </div>
    </>
  )
}
