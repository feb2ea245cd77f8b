import { Banner } from '#app/_ui/banner.tsx'

type Problem = { message: string; remedy?: string }

/** What stands in the way of publishing a form, read as the document is; nothing where nothing does. */
export function EditProblems({ problems }: { problems: readonly Problem[] }) {
  if (problems.length === 0) return null
  return (
    <Banner kind="problem" title="To put right first:">
      <ul>
        {problems.map(({ message, remedy }) => (
          <li key={message}>
            {message}
            {remedy && `; ${remedy}`}
          </li>
        ))}
      </ul>
    </Banner>
  )
}
