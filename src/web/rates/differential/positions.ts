// Positions of this page. Each change is stored in the browser. Signing out removes them.

import { effect, signal } from '@preact/signals'
import { POSITIONS_KEY, signOuts } from '../../api/session.ts'
import type { Position } from '../../model/rates/differential.ts'
import { MAX_POSITIONS, readPositions, storePositions } from './position-store.ts'

export const positions = signal<readonly Position[]>(readPositions())
export const isStored = signal(true)

export function addPositions(added: readonly Omit<Position, 'id'>[]): void {
  const start = Math.max(0, ...positions.value.map(({ id }) => id)) + 1
  const numbered = added.map((position, index) => ({ ...position, id: start + index }))
  setPositions([...positions.value, ...numbered].slice(0, MAX_POSITIONS))
}

export function replacePosition(changed: Position): void {
  setPositions(positions.value.map((one) => (one.id === changed.id ? changed : one)))
}

export function removePosition(id: number): void {
  setPositions(positions.value.filter((one) => one.id !== id))
}

function setPositions(next: readonly Position[]): void {
  positions.value = next
  isStored.value = storePositions(next)
}

effect(() => {
  if (signOuts.value > 0) positions.value = readPositions()
})

// Another tab changed the positions, or signed out.
addEventListener('storage', ({ key }) => {
  if (key === null || key === POSITIONS_KEY) positions.value = readPositions()
})
