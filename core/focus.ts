/**
 * Usage as rows of the FinOps Open Cost and Usage Specification, version 1.2: one row for a UTC day, a model, a meter and a set of
 * tags, so that quantity times unit price is the cost exactly. Columns that the specification does not have begin with `x_`.
 */
import { type CsvValue, csvLine, csvText } from './csv.ts'

/** Columns in the order of the file. Those that are never null stand in {@link FOCUS_NOT_NULL}. */
export const FOCUS_COLUMNS = [
  'BilledCost',
  'BillingAccountId',
  'BillingAccountName',
  'BillingCurrency',
  'BillingPeriodEnd',
  'BillingPeriodStart',
  'ChargeCategory',
  'ChargeClass',
  'ChargeDescription',
  'ChargeFrequency',
  'ChargePeriodEnd',
  'ChargePeriodStart',
  'ConsumedQuantity',
  'ConsumedUnit',
  'ContractedCost',
  'ContractedUnitPrice',
  'EffectiveCost',
  'InvoiceIssuerName',
  'ListCost',
  'ListUnitPrice',
  'PricingCategory',
  'PricingQuantity',
  'PricingUnit',
  'ProviderName',
  'PublisherName',
  'ServiceCategory',
  'ServiceName',
  'ServiceSubcategory',
  'SkuId',
  'SkuMeter',
  'SkuPriceDetails',
  'SkuPriceId',
  'SubAccountId',
  'SubAccountName',
  'Tags',
  'x_Covered',
  'x_LongContext',
  'x_PricingBasis',
  'x_RuleVersion',
  'x_TeamId',
  'x_UpperBoundCost',
] as const
export type FocusColumn = (typeof FOCUS_COLUMNS)[number]
/** A cell: null is null, never 0 and never a word for it. */
export type FocusRow = Record<FocusColumn, CsvValue>
export const FOCUS_NOT_NULL = [
  'BilledCost',
  'BillingAccountId',
  'BillingAccountName',
  'BillingCurrency',
  'BillingPeriodEnd',
  'BillingPeriodStart',
  'ChargeCategory',
  'ChargeDescription',
  'ChargePeriodEnd',
  'ChargePeriodStart',
  'ContractedCost',
  'EffectiveCost',
  'InvoiceIssuerName',
  'ListCost',
  'ProviderName',
  'PublisherName',
  'ServiceCategory',
  'ServiceName',
  'ServiceSubcategory',
] as const satisfies readonly FocusColumn[]

/** Rows as CSV text. */
export const focusCsv = (rows: Iterable<FocusRow>): string =>
  csvText(
    FOCUS_COLUMNS,
    [...rows].map(row => FOCUS_COLUMNS.map(column => row[column])),
  )

/** The first line of a CSV that is written row by row, and a row's own line. */
export const focusCsvHead = (): string => csvLine(FOCUS_COLUMNS)
export const focusCsvLine = (row: FocusRow): string => csvLine(FOCUS_COLUMNS.map(column => row[column]))

/** Rows as JSON for the API: decimals are strings, null is null. */
export const focusJson = (row: FocusRow): Record<FocusColumn, string | number | null> =>
  Object.fromEntries(
    FOCUS_COLUMNS.map(column => {
      const value = row[column]
      if (value === null || value === undefined) return [column, null]
      if (typeof value === 'object') return [column, value instanceof Date ? value.toISOString() : value.decimal]
      return [column, value]
    }),
  ) as Record<FocusColumn, string | number | null>
