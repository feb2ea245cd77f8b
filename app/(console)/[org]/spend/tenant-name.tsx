import { Name } from '#app/_ui/name.tsx'

/** A tenant by its name; its key, which rules and files have, beside it where the two differ. */
export function TenantName({ name, tenantKey }: { name: string; tenantKey: string }) {
  return (
    <>
      <Name inTable>{name}</Name>
      {name !== tenantKey && (
        <>
          {' '}
          <code className="text-ink-3 text-xs [overflow-wrap:anywhere]">{tenantKey}</code>
        </>
      )}
    </>
  )
}
