// Question to the user at the terminal, before data are removed.

import { createInterface } from 'node:readline'
import type { ReadStream } from 'node:tty'
import { AppError } from '../runtime/errors.ts'
import type { Terminal } from './command.ts'

const WHOLE_YES = /^(yes|si|sí)$/i
const YES = /^(y|yes|s|si|sí)$/i

/** Returns true if stdin and stderr are a terminal. */
export function canConfirm({ input, interactive }: Pick<Terminal, 'input' | 'interactive'>): boolean {
  return interactive && (input?.() as Partial<ReadStream> | undefined)?.isTTY === true
}

/**
 * Returns true if the user types yes; any other line, also an empty one, is no. `wholeWord`: the letter y is no either,
 * for what nothing can undo.
 * @throws AppError `failed` if stopped before the answer
 */
export async function isConfirmed(
  terminal: Terminal,
  question: string,
  { wholeWord = false } = {},
): Promise<boolean> {
  const input = terminal.input?.()
  if (!input) return false
  const lines = createInterface({ input, signal: terminal.stop })
  const answer = Promise.withResolvers<string | undefined>()
  lines.once('line', answer.resolve)
  lines.once('close', () => answer.resolve(undefined))
  terminal.err(`${question} [${wholeWord ? 'yes' : 'y'}/N] `)
  const line = await answer.promise
  lines.close()
  if (line === undefined) terminal.err('\n')
  if (line === undefined && terminal.stop.aborted)
    throw new AppError('failed', 'stopped before the answer: nothing was changed')
  return (wholeWord ? WHOLE_YES : YES).test(line?.trim() ?? '')
}
