/** Hidden fields of a plain form; those without a value are left out. */
export function HiddenFields({ fields }: { fields: Record<string, string | undefined> }) {
  return Object.entries(fields).map(
    ([name, value]) => value && <input key={name} type="hidden" name={name} value={value} />,
  )
}
