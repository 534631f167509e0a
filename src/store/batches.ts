/**
 * Splits values into batches of `count`, for the limits of a statement: PostgreSQL takes 65,535 values, SQLite 32,766.
 */
export function* splitBatches<T>(all: Iterable<T>, count: number): Generator<T[]> {
  let some: T[] = []
  for (const one of all) {
    some.push(one)
    if (some.length < count) continue
    yield some
    some = []
  }
  if (some.length > 0) yield some
}

/** Groups an asynchronous sequence into pages of `size`; the last page may be shorter. */
export async function* readPages<T>(all: AsyncIterable<T>, size: number): AsyncGenerator<T[]> {
  let page: T[] = []
  for await (const one of all) {
    page.push(one)
    if (page.length < size) continue
    yield page
    page = []
  }
  if (page.length > 0) yield page
}
