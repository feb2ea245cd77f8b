/**
 * Goes to a door of the server by a real form, as a page without script would: the answer is a redirect, and a full load
 * follows, so nothing of the session before stays in memory.
 */
export function postForm(action: string, fields: Readonly<Record<string, string>> = {}): void {
  const form = document.createElement('form')
  form.method = 'post'
  form.action = action
  for (const [name, value] of Object.entries(fields)) {
    const input = document.createElement('input')
    input.type = 'hidden'
    input.name = name
    input.value = value
    form.append(input)
  }
  document.body.append(form)
  form.submit()
}
