import { cn } from './class-names.ts'
import { formatMoney } from './format.ts'

type Props = { amount: string; currency: string; places?: number; className?: string }

/** An amount from a decimal string, with its currency and tabular figures. The full amount is in the title when shortened. */
export function Money({ amount, currency, places, className }: Props) {
  return (
    <data value={amount} title={`${amount} ${currency}`} className={cn('whitespace-nowrap tabular-nums', className)}>
      {formatMoney(amount, currency, places)}
    </data>
  )
}
