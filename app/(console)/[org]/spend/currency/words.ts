const NAMES = new Intl.DisplayNames('en', { type: 'currency' })

/** `Euro`; the code itself where it has no other name. For the server alone: browsers know other names. */
export const currencyName = (code: string): string => NAMES.of(code) ?? code

/** Currencies to choose from: `EUR, Euro`. */
export const currencyOptions = (codes: readonly string[]): { value: string; label: string }[] =>
  codes.map(value => ({ value, label: `${value}, ${currencyName(value)}` }))
