import { Banner } from '#app/_ui/banner.tsx'
import { refusalWords } from './refusal.ts'

/** Says why a form led back here; nothing without a code. */
export function RefusalBanner({ code }: { code: string | undefined }) {
  const words = refusalWords(code)
  if (!words) return null
  return (
    <Banner kind="problem" title={words.title}>
      {words.text}
    </Banner>
  )
}
