/**
 * Share of pairs in which the value of the first list is the greater one, ties halved (Mann and Whitney).
 * 0.5 means indistinguishable, 0 and 1 mean always distinguishable.
 */
export function advantage(first: readonly number[], second: readonly number[]): number {
  const all = [...first.map((value) => ({ value, own: 1 })), ...second.map((value) => ({ value, own: 0 }))]
  all.sort((a, b) => a.value - b.value)
  let ranks = 0
  for (let from = 0; from < all.length; ) {
    let to = from
    while (to < all.length && all[to]?.value === all[from]?.value) to++
    const rank = (from + 1 + to) / 2
    for (const { own } of all.slice(from, to)) ranks += own * rank
    from = to
  }
  const n = first.length
  return (ranks - (n * (n + 1)) / 2) / (n * second.length)
}
