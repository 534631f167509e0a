// Pasted list of this tab. Nothing is stored. The list survives the end of a session; signing out removes it.

import { effect, signal } from '@preact/signals'
import { signOuts } from '../../api/session.ts'
import type { PastedKind } from '../../model/pasted/columns.ts'

export type ListState = {
  text: string
  /** Kinds that the user chose; undefined: those that were recognized. */
  kinds: readonly PastedKind[] | undefined
  /** The rows of this text and these kinds are converted. */
  isConverted: boolean
  /** Codes without rates that the dollar replaces. */
  asDollar: readonly string[]
}

const EMPTY: ListState = { text: '', kinds: undefined, isConverted: false, asDollar: [] }

export const listState = signal(EMPTY)

export function setList(change: Partial<ListState>): void {
  listState.value = { ...listState.value, ...change }
}

effect(() => {
  if (signOuts.value > 0) listState.value = EMPTY
})
