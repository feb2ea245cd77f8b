import { Button } from '#app/_ui/button.tsx'
import { EmptyState } from '#app/_ui/empty-state.tsx'

export const metadata = { title: 'Not found' }

/** Inside the frame: the thing is not there, or not for this reader; the two look alike on purpose. */
export default function NotFoundHere() {
  return (
    <EmptyState headingLevel={1} title="There is nothing here" action={<Button href="/">Go to the overview</Button>}>
      The address is wrong, the thing is gone, or your account may not see it.
    </EmptyState>
  )
}
