// Field that searches a table. Screen readers hear the number of matches.

import { useId } from 'preact/hooks'
import { icons } from './icons.tsx'

type SearchWords = { search: string; matches(count: number): string }

/** `count`: rows that match. */
export function TableSearch(props: {
  words: SearchWords
  query: string
  count: number
  onInput: (query: string) => void
}) {
  const { words, query } = props
  const id = useId()
  return (
    <div class="search">
      {icons.search}
      <label class="unseen" for={id}>
        {words.search}
      </label>
      <input
        id={id}
        type="search"
        class="field"
        placeholder={words.search}
        value={query}
        onInput={(event) => props.onInput(event.currentTarget.value)}
      />
      <span class="unseen" role="status">
        {query !== '' && words.matches(props.count)}
      </span>
    </div>
  )
}
