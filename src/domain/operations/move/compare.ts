// Compares rows with the listing of a store. Both are sorted by name, so that millions need no memory.

export type Difference<Row> = { only: 'row'; row: Row } | { only: 'name'; name: string }

/**
 * Yields the entries that only one side has. Both sides must ascend; an unsorted listing yields false differences.
 */
export async function* differences<Row extends { name: string }>(
  rows: AsyncIterable<Row>,
  names: AsyncIterable<string>,
): AsyncGenerator<Difference<Row>> {
  const rowIterator = rows[Symbol.asyncIterator]()
  const nameIterator = names[Symbol.asyncIterator]()
  let [row, name] = [await rowIterator.next(), await nameIterator.next()]
  while (!row.done || !name.done) {
    if (!row.done && !name.done && row.value.name === name.value) {
      ;[row, name] = [await rowIterator.next(), await nameIterator.next()]
    } else if (!row.done && (name.done || row.value.name < name.value)) {
      yield { only: 'row', row: row.value }
      row = await rowIterator.next()
    } else {
      yield { only: 'name', name: name.value as string }
      name = await nameIterator.next()
    }
  }
}

/** Passes items on and calls `onItem` before each. */
export async function* counted<T>(all: AsyncIterable<T>, onItem: () => void): AsyncGenerator<T> {
  for await (const one of all) {
    onItem()
    yield one
  }
}
