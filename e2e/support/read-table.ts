import { expect, type Locator } from '@playwright/test'

/**
 * The rows of a table's body, each cell's words below its column's head: read at one moment, so that a page that is read anew
 * meanwhile gives no mixture, and only once the table is there and has a row. A heading cell of the row counts as a cell.
 */
export async function readTable(table: Locator): Promise<Record<string, string>[]> {
  await expect(table).toBeVisible()
  await expect(table.locator('tbody tr')).not.toHaveCount(0)
  return table.evaluate((at: HTMLTableElement) => {
    const words = (cell: HTMLElement) => cell.innerText.trim()
    const heads = [...at.tHead!.rows[0]!.cells].map(words)
    return [...at.tBodies[0]!.rows].map(row =>
      Object.fromEntries([...row.cells].map((cell, i) => [heads[i] ?? `column ${i + 1}`, words(cell)])),
    )
  })
}
