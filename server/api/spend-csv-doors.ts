import { budgetsSheet, stoppedSheet } from '../features/budget/sheet.ts'
import {
  attributionRulesSheet,
  tagValuesSheet,
  unattributedSheet,
  unlistedSheet,
} from '../features/spend/attribution-sheets.ts'
import { exchangeSheet } from '../features/spend/billing-currency.ts'
import { listGrants } from '../features/spend/grant.ts'
import { listTenants } from '../features/tenant.ts'
import { ownPricesSheet, rateCardSheet, repriceSheet, unpricedSheet } from '../features/usage/price-sheets.ts'
import { csvDoor } from './csv-doors.ts'

export const budgetsCsv = csvDoor('budgets', budgetsSheet)
export const budgetStopsCsv = csvDoor('budget-stops', stoppedSheet)
export const rateCardCsv = csvDoor('rate-card', rateCardSheet)
export const ownPricesCsv = csvDoor('own-prices', ownPricesSheet)
export const unpricedModelsCsv = csvDoor('unpriced-models', unpricedSheet)
export const repricePreviewCsv = csvDoor('reprice-preview', repriceSheet)
export const tagValuesCsv = csvDoor('tag-values', tagValuesSheet)
export const attributionRulesCsv = csvDoor('attribution-rules', attributionRulesSheet)
export const unattributedCsv = csvDoor('unattributed', unattributedSheet)
export const unlistedCsv = csvDoor('unlisted', unlistedSheet)
export const exchangeRatesCsv = csvDoor('exchange-rates', exchangeSheet)
export const tenantsCsv = csvDoor('tenants', async ctx => ({
  columns: ['key', 'name', 'listed', 'used'],
  rows: (await listTenants(ctx)).map(({ key, name, listed, used }) => [
    key,
    name,
    listed ? 'yes' : 'no',
    used ? 'yes' : 'no',
  ]),
}))
export const figuresGrantsCsv = csvDoor('figures-grants', async ctx => ({
  columns: ['who_may_see', 'whose', 'reason', 'given_by', 'given_at_utc', 'until_utc', 'ended_at_utc'],
  rows: (await listGrants(ctx)).map(one => [
    one.holder.name,
    one.subject?.name ?? 'everybody',
    one.reason,
    one.grantedBy,
    one.createdAt,
    one.expiresAt,
    one.endedAt,
  ]),
}))
