const NAMES = new Intl.DisplayNames('en', { type: 'currency' })

/** `Euro`; the code itself where it has no other name. */
export const currencyName = (code: string): string => NAMES.of(code) ?? code
