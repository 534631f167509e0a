// Rows and the listing of a store, side by side: what is in one of them alone. Both come in the order of their names, so that
// millions take no memory.

export type Difference<Row> = { only: 'row'; row: Row } | { only: 'name'; name: string }

/** Both rise; where a listing does not, more is found than there is. */
export async function* differences<Row extends { name: string }>(
  rows: AsyncIterable<Row>,
  names: AsyncIterable<string>,
): AsyncGenerator<Difference<Row>> {
  const left = rows[Symbol.asyncIterator]()
  const right = names[Symbol.asyncIterator]()
  let [row, name] = [await left.next(), await right.next()]
  while (!row.done || !name.done) {
    if (!row.done && !name.done && row.value.name === name.value) {
      ;[row, name] = [await left.next(), await right.next()]
    } else if (!row.done && (name.done || row.value.name < name.value)) {
      yield { only: 'row', row: row.value }
      row = await left.next()
    } else {
      yield { only: 'name', name: name.value as string }
      name = await right.next()
    }
  }
}

/** What comes one by one; `seen` is called before each. */
export async function* counted<T>(all: AsyncIterable<T>, seen: () => void): AsyncGenerator<T> {
  for await (const one of all) {
    seen()
    yield one
  }
}
