import { notFound } from 'next/navigation'

export const metadata = { title: 'Not found' }

/** Any address beneath an organisation that no page has: said inside the frame, so that the way on stays in sight. */
export default function NoSuchPage(): never {
  notFound()
}
