import type { ReactNode } from 'react'
import { ApiProvider } from '#app/_client/trpc.tsx'

/** Every page behind the sign-in may call the API from the browser. */
export default function ConsoleLayout({ children }: { children: ReactNode }) {
  return <ApiProvider>{children}</ApiProvider>
}
