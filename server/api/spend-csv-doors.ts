import { ownPricesSheet, rateCardSheet, repriceSheet, unpricedSheet } from '../features/usage/price-sheets.ts'
import { csvDoor } from './csv-doors.ts'

export const rateCardCsv = csvDoor('rate-card', rateCardSheet)
export const ownPricesCsv = csvDoor('own-prices', ownPricesSheet)
export const unpricedModelsCsv = csvDoor('unpriced-models', unpricedSheet)
export const repricePreviewCsv = csvDoor('reprice-preview', repriceSheet)
