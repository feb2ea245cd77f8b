import { Button } from '#app/_ui/button.tsx'
import { EmptyState } from '#app/_ui/empty-state.tsx'
import { Logo } from '#app/_ui/logo.tsx'

export const metadata = { title: 'Not found' }

/** For every address that leads nowhere, and for what this reader may not see: the two look alike on purpose. */
export default function NotFound() {
  return (
    <main className="grid min-h-dvh place-content-center justify-items-center p-6">
      <Logo />
      <EmptyState headingLevel={1} title="There is nothing here" action={<Button href="/">Go to the start</Button>}>
        The address is wrong, the thing is gone, or your account may not see it.
      </EmptyState>
    </main>
  )
}
