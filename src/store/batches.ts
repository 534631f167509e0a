/** Some of them at a time, for statements that take so many values and no more: PostgreSQL takes 65,535, SQLite 32,766. */
export function* portionsOf<T>(all: Iterable<T>, count: number): Generator<T[]> {
  let some: T[] = []
  for (const one of all) {
    some.push(one)
    if (some.length < count) continue
    yield some
    some = []
  }
  if (some.length > 0) yield some
}

/** What comes one by one, in pages of so many, or fewer at the end. */
export async function* pagesOf<T>(all: AsyncIterable<T>, size: number): AsyncGenerator<T[]> {
  let page: T[] = []
  for await (const one of all) {
    page.push(one)
    if (page.length < size) continue
    yield page
    page = []
  }
  if (page.length > 0) yield page
}
