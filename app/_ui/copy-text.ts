/** Puts text on the clipboard; also where the page is not served over https, when the newer interface is absent. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyBySelection(text)
  }
}

function copyBySelection(text: string): boolean {
  const before = document.activeElement
  const box = document.createElement('textarea')
  box.value = text
  box.readOnly = true
  box.className = 'fixed top-0 left-0 opacity-0'
  // Inside an open dialog focus may not leave it.
  const home = document.querySelector('[role=dialog],[role=alertdialog]') ?? document.body
  home.append(box)
  box.select()
  const copied = document.execCommand('copy')
  box.remove()
  if (before instanceof HTMLElement) before.focus()
  return copied
}
