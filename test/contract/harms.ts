// Harms of a valid answer. Each provider refuses such an answer as a whole, so nothing of it is stored or covered.

import type { ProviderSample } from './provider.ts'

const commas = (value: string) => value.replace('.', ',')

/** Returns bodies in another notation, with their titles. */
export function harmfulBodies({ rewrite }: Pick<ProviderSample, 'rewrite'>): [title: string, body: string][] {
  return [
    ['values in decimal commas', rewrite({ value: commas })],
    ['a value in decimal commas', rewrite({ value: onlyFirst(commas) })],
    ['values of three decimals after a comma', rewrite({ value: (value) => `${value.split('.')[0]},665` })],
    ['a value below one with a comma', rewrite({ value: onlyFirst(() => '0,853') })],
  ]
}

/** Returns a change of the first text alone. */
function onlyFirst(change: (text: string) => string): (text: string) => string {
  let isFirst = true
  return (text) => {
    const result = isFirst ? change(text) : text
    isFirst = false
    return result
  }
}
