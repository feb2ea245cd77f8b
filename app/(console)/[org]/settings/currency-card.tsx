'use client'

import { useMutation } from '@tanstack/react-query'
import Link from 'next/link'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { useTRPC } from '#app/_client/trpc.tsx'
import { Button } from '#app/_ui/button.tsx'
import { Card } from '#app/_ui/card.tsx'
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx'
import { Field } from '#app/_ui/field.tsx'
import { Select, type SelectOption } from '#app/_ui/select.tsx'
import { toast } from '#app/_ui/toast-store.ts'
import { SignInAgain, type TooOld } from '../sign-in-again.tsx'
import { withRemedy } from '../with-remedy.ts'

type Props = {
  org: string
  currency: string
  /** The one that is set, the dollar, and those with an exchange rate of today. */
  choices: readonly SelectOption[]
  mayChange: boolean
  tooOld: TooOld | undefined
}

/** What the organisation is billed in. */
export function CurrencyCard({ org, currency, choices, mayChange, tooOld }: Props) {
  const router = useRouter()
  const [chosen, setChosen] = useState(currency)
  const change = useMutation(useTRPC().spend.changeCurrency.mutationOptions({ onSettled: () => router.refresh() }))
  return (
    <Card
      id="currency"
      title="Billing currency"
      note={mayChange ? undefined : 'Changing it takes the role owner and a sign-in of one’s own.'}
    >
      <div className="grid gap-3 p-4">
        <Field
          label="Reports and statements are in"
          className="max-w-md"
          hint={
            <>
              Prices are in US dollars; each day is converted at its rate. A currency can be chosen once it has a rate
              of today, under{' '}
              <Link href={`/${org}/spend/currency`} className="underline">
                Spend, Currency
              </Link>
              .
            </>
          }
        >
          <Select
            options={[...choices]}
            value={chosen}
            onChange={event => setChosen(event.target.value)}
            disabled={!mayChange}
          />
        </Field>
        {mayChange && (
          <div>
            <ConfirmDialog
              title={`Bill in ${chosen}?`}
              description={`Reports, their CSV and open statements are in ${chosen} from now on, those of past days too. Months that were closed keep their currency.`}
              trigger={
                <Button variant="primary" disabled={chosen === currency}>
                  Change the currency
                </Button>
              }
              confirmLabel={`Bill in ${chosen}`}
              tone="primary"
              onConfirm={async () => {
                const { version } = await withRemedy(change.mutateAsync({ org, currency: chosen }))
                toast(`Billed in ${chosen} from now on`, {
                  description:
                    version === null
                      ? 'No budget changed.'
                      : `Version ${version} of the rules says of each budget which currency it keeps.`,
                })
              }}
            >
              <p className="text-ink-2">
                Budgets keep the currency they have: one that does not say it is made to say it, in a version of the
                rules that is published with this.
              </p>
              {tooOld && (
                <SignInAgain tooOld={tooOld}>Changing the billing currency asks who you are once more.</SignInAgain>
              )}
            </ConfirmDialog>
          </div>
        )}
      </div>
    </Card>
  )
}
