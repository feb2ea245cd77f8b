import { ChevronDown, ChevronLeft, ChevronRight, X } from 'lucide-react'
import { Button } from '#app/_ui/button.tsx'
import { Field } from '#app/_ui/field.tsx'
import { Menu, MenuItem } from '#app/_ui/menu.tsx'
import { TextInput } from '#app/_ui/text-input.tsx'
import { addDays, addMonths, daysOfMonth, monthWords } from '#core/day.ts'
import type { Dimension } from '#core/spend/group.ts'
import { askedFields, askedPath, dimensionName, dimensionWord, noneName, type SpendAsked } from './asked.ts'
import { LinkSegments } from './link-segments.tsx'
import { monthOf, periodWords } from './period.ts'

/** Months that the menu offers; older ones are reached by dates. */
const MONTHS_MOST = 18

type Props = {
  base: string
  asked: SpendAsked
  /** Today on the organisation's clock. */
  today: string
  zone: string
  firstMonth: string | null
  dimensions: readonly Dimension[]
  /** What a filter's value is called, by its word; else the value itself. */
  names: ReadonlyMap<string, string>
}

/** What the figures are of: period, key and basis, and the filters that are set. All of it is links and one form by GET. */
export function Controls({ base, asked, today, zone, firstMonth, dimensions, names }: Props) {
  const to = (change: Partial<SpendAsked>) => askedPath(base, { ...asked, ...change }, today)
  const month = monthOf(asked.period)
  const thisMonth = today.slice(0, 7)
  const near = month ?? asked.period.from.slice(0, 7)
  const months: string[] = []
  for (let one = thisMonth; months.length < MONTHS_MOST && one >= (firstMonth ?? thisMonth); one = addMonths(one, -1))
    months.push(one)
  const monthHref = (one: string) => to({ period: daysOfMonth(one) })
  return (
    <section aria-label="What is shown" className="mb-4 grid gap-3">
      <div className="flex flex-wrap items-end gap-x-4 gap-y-3">
        <div className="flex items-center gap-1">
          <Button
            href={monthHref(addMonths(near, -1))}
            aria-label={monthWords(addMonths(near, -1))}
            icon={<ChevronLeft aria-hidden />}
            className="px-2"
          />
          <Menu
            label="Months"
            align="start"
            trigger={
              <Button className="min-w-44 justify-between">
                {periodWords(asked.period)}
                <ChevronDown aria-hidden />
              </Button>
            }
          >
            {months.map(one => (
              <MenuItem key={one} href={monthHref(one)} current={one === month}>
                {monthWords(one)}
              </MenuItem>
            ))}
          </Menu>
          {near < thisMonth && (
            <Button
              href={monthHref(addMonths(near, 1))}
              aria-label={monthWords(addMonths(near, 1))}
              icon={<ChevronRight aria-hidden />}
              className="px-2"
            />
          )}
        </div>
        <search>
          {/* Entered anew for another period: an input that is left alone keeps what it was given first. */}
          <form
            key={`${asked.period.from} ${asked.period.to}`}
            aria-label="Other dates"
            action={base}
            method="get"
            className="flex flex-wrap items-end gap-2"
          >
            {askedFields(asked, today)
              .filter(([name]) => !['month', 'from', 'to'].includes(name))
              .map(([name, value]) => (
                <input key={`${name} ${value}`} type="hidden" name={name} value={value} />
              ))}
            <Field label={`From (${zone})`} hideLabel className="w-36">
              <TextInput name="from" type="date" required defaultValue={asked.period.from} />
            </Field>
            <span aria-hidden className="pb-1.5 text-ink-3">
              to
            </span>
            <Field label={`To and with (${zone})`} hideLabel className="w-36">
              <TextInput name="to" type="date" required defaultValue={addDays(asked.period.to, -1)} />
            </Field>
            <Button type="submit">Show</Button>
          </form>
        </search>
        <div className="sm:ml-auto">
          <LinkSegments
            label="Basis"
            items={[
              { href: to({ basis: 'equivalent' }), label: 'List price', current: asked.basis === 'equivalent' },
              { href: to({ basis: 'billed' }), label: 'Billed', current: asked.basis === 'billed' },
            ]}
          />
        </div>
      </div>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <span aria-hidden className="text-ink-3 text-xs">
          By
        </span>
        <LinkSegments
          label="Group by"
          items={dimensions.map(by => ({ href: to({ by }), label: dimensionName(by), current: by === asked.by }))}
        />
      </div>
      {asked.filters.length > 0 && (
        <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
          <span className="text-ink-3 text-xs">Only</span>
          <ul aria-label="Filters" className="flex min-w-0 flex-wrap gap-2">
            {asked.filters.map(({ dimension, value }) => {
              const name = value === null ? noneName(dimension) : (names.get(`${dimension} ${value}`) ?? value)
              return (
                <li
                  key={dimensionWord(dimension)}
                  className="flex min-w-0 max-w-full items-center gap-1 rounded-md border border-line-strong bg-raised pl-2.5 text-xs"
                >
                  <span className="shrink-0 text-ink-3">{dimensionName(dimension)}</span>
                  <bdi title={name} className="min-w-0 truncate font-medium">
                    {name}
                  </bdi>
                  <Button
                    href={to({ filters: asked.filters.filter(one => one.dimension !== dimension) })}
                    variant="ghost"
                    size="sm"
                    aria-label={`Leave out the filter by ${dimensionName(dimension)}`}
                    icon={<X aria-hidden />}
                    className="px-1.5"
                  />
                </li>
              )
            })}
          </ul>
        </div>
      )}
    </section>
  )
}
