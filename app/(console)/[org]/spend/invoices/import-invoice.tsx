'use client'

import { useMutation } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { useId, useState } from 'react'
import { useTRPC } from '#app/_client/trpc.tsx'
import { Banner } from '#app/_ui/banner.tsx'
import { Button } from '#app/_ui/button.tsx'
import { Dialog, DialogClose } from '#app/_ui/dialog.tsx'
import { Field, useFieldWiring } from '#app/_ui/field.tsx'
import { formatPlural } from '#app/_ui/format.ts'
import { SegmentedControl } from '#app/_ui/segmented-control.tsx'
import { Select } from '#app/_ui/select.tsx'
import { TextInput } from '#app/_ui/text-input.tsx'
import { toast } from '#app/_ui/toast-store.ts'
import { monthWords } from '#core/day.ts'
import { PROVIDER_NAMES } from '#core/focus-rows.ts'
import { INVOICE_TEXT_MAX } from '#core/limits.ts'
import type { Provider } from '#core/pricing.ts'
import { errorDetails, errorRemedy } from '../../app-error.ts'
import { type HandLine, HandLines, sentLines } from './hand-lines.tsx'

type Source = 'anthropic' | 'openai' | 'csv' | 'hand'
const SOURCES: readonly { value: Source; label: string }[] = [
  { value: 'anthropic', label: 'Anthropic report' },
  { value: 'openai', label: 'OpenAI report' },
  { value: 'csv', label: 'CSV' },
  { value: 'hand', label: 'By hand' },
]
const HINTS: Record<Exclude<Source, 'hand'>, string> = {
  anthropic:
    'The answer of GET /v1/organizations/cost_report for one month, asked with group_by[]=description; several pages as a list.',
  openai:
    'The answer of GET /v1/organization/costs for one month, asked with group_by[]=line_item; several pages as a list.',
  csv: 'Its first line names its columns: amount, and if you have them day, model, description, currency. Days are UTC, such as 2026-11-30.',
}

type Props = {
  org: string
  /** Newest first. */
  months: readonly string[]
  /** The invoice whose place the new one takes. */
  replaced?: { id: string; provider: Provider; month: string; number: string | null; currency: string }
}

/** Brings in an invoice: a provider's own report, a CSV, or lines typed in. What is wrong with it is told with its place. */
export function ImportInvoice({ org, months, replaced }: Props) {
  const router = useRouter()
  const trpc = useTRPC()
  const form = useId()
  const [open, setOpen] = useState(false)
  const [source, setSource] = useState<Source>(replaced?.provider === 'openai' ? 'openai' : 'anthropic')
  const [provider, setProvider] = useState<Provider>(replaced?.provider ?? 'anthropic')
  // The month that is over: an invoice of it can be there.
  const [month, setMonth] = useState(replaced?.month ?? months[1]!)
  const [number, setNumber] = useState(replaced?.number ?? '')
  const [currency, setCurrency] = useState(replaced?.currency ?? 'USD')
  const [file, setFile] = useState<File>()
  const [lines, setLines] = useState<HandLine[]>([{ day: '', model: '', amount: '' }])
  const [slip, setSlip] = useState<string>()
  const isReport = source === 'anthropic' || source === 'openai'
  const options = {
    onSuccess: ({ id, lines: count }: { id: string; lines: number }) => {
      toast('The invoice is here', {
        description: `${formatPlural(count, 'line')}, compared with what machines reported.`,
      })
      setOpen(false)
      router.push(`/${org}/spend/invoices/${id}`)
      router.refresh()
    },
  }
  const bring = useMutation(trpc.invoice.import.mutationOptions(options))
  const enter = useMutation(trpc.invoice.enter.mutationOptions(options))
  const error = source === 'hand' ? enter.error : bring.error
  const isPending = bring.isPending || enter.isPending
  const forget = () => {
    bring.reset()
    enter.reset()
    setSlip(undefined)
  }
  const send = async (replaces = replaced?.id) => {
    forget()
    const head = {
      org,
      month,
      provider: isReport ? (source as Provider) : provider,
      currency: currency.trim().toUpperCase(),
      ...(number.trim() ? { number: number.trim() } : {}),
      ...(replaces ? { replaces } : {}),
    }
    if (source === 'hand') return enter.mutate({ ...head, lines: sentLines(lines) })
    if (!file) return setSlip('Choose a file first.')
    if (file.size > INVOICE_TEXT_MAX) return setSlip('The file is larger than 8 MiB.')
    bring.mutate({ ...head, source, text: await file.text() })
  }
  const { why, id: there } = error ? errorDetails(error) : {}
  return (
    <Dialog
      size="lg"
      title={replaced ? 'Replace this invoice' : 'Add an invoice'}
      description={
        replaced
          ? 'Its lines are taken out and the new ones take their place. How its difference is spread stays; a month that is closed gets an adjustment.'
          : 'One for each provider and month, by UTC days. It is read and compared here; nothing is sent to the provider.'
      }
      trigger={
        replaced ? (
          <Button>Replace</Button>
        ) : (
          <Button variant="primary" icon={<Plus aria-hidden />}>
            Add an invoice
          </Button>
        )
      }
      open={open}
      onOpenChange={next => {
        if (isPending) return
        forget()
        setOpen(next)
      }}
      footer={
        <>
          <DialogClose>
            <Button disabled={isPending}>Cancel</Button>
          </DialogClose>
          <Button type="submit" form={form} variant="primary" loading={isPending}>
            {replaced ? 'Read and replace' : 'Read and compare'}
          </Button>
        </>
      }
    >
      <form
        id={form}
        className="grid gap-4"
        autoComplete="off"
        onSubmit={event => {
          event.preventDefault()
          send()
        }}
      >
        <SegmentedControl
          label="What it is"
          showLabel
          full
          value={source}
          onChange={next => {
            setSource(next)
            forget()
          }}
          segments={SOURCES.map(one => ({
            ...one,
            disabled: replaced !== undefined && isReportOfOther(one.value, replaced.provider),
          }))}
        />
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Provider">
            <Select
              value={isReport ? source : provider}
              disabled={isReport || replaced !== undefined}
              onChange={event => setProvider(event.target.value as Provider)}
              options={Object.entries(PROVIDER_NAMES).map(([value, label]) => ({ value, label }))}
            />
          </Field>
          <Field label="Month (UTC)">
            <Select
              value={month}
              disabled={replaced !== undefined}
              onChange={event => setMonth(event.target.value)}
              options={months.map(one => ({ value: one, label: monthWords(one) }))}
            />
          </Field>
          <Field label="Invoice number" optional hint="Stands on statements beside the line">
            <TextInput value={number} maxLength={60} onChange={event => setNumber(event.target.value)} />
          </Field>
          {!isReport && (
            <Field label="Currency" hint="Three letters, of lines that name none">
              <TextInput value={currency} maxLength={3} mono onChange={event => setCurrency(event.target.value)} />
            </Field>
          )}
        </div>
        {source === 'hand' ? (
          <HandLines lines={lines} onChange={setLines} />
        ) : (
          <Field label="File" hint={HINTS[source]} error={slip} required>
            <FileInput
              accept={source === 'csv' ? '.csv,text/csv,text/plain' : '.json,application/json'}
              onFile={chosen => {
                setFile(chosen)
                forget()
              }}
            />
          </Field>
        )}
        {error && (
          <Banner
            kind="problem"
            title={error.message}
            action={
              why === 'exists' &&
              typeof there === 'string' && (
                <Button size="sm" loading={isPending} onClick={() => send(there)}>
                  Replace it
                </Button>
              )
            }
          >
            {errorRemedy(error)}
          </Banner>
        )}
      </form>
    </Dialog>
  )
}

const isReportOfOther = (source: Source, provider: Provider): boolean =>
  (source === 'anthropic' || source === 'openai') && source !== provider

function FileInput({ accept, onFile }: { accept: string; onFile: (file: File | undefined) => void }) {
  return (
    <input
      type="file"
      {...useFieldWiring()}
      accept={accept}
      onChange={event => onFile(event.target.files?.[0])}
      className="entry py-1 file:mr-3 file:cursor-pointer file:rounded file:border file:border-line-strong file:bg-raised file:px-2.5 file:py-0.5 file:text-ink file:text-sm"
    />
  )
}
