// A resource is data that a person picks for a model. It requires the same credential as the tool for that data.

import type { Caller, Need } from './tool.ts'

export type Contents = { mimeType: string; text: string } | { mimeType: string; blob: string }

export type Resource = {
  needs: Need
  /** Entry in resources/list; undefined for a template. */
  entry?: object
  /** Entry in resources/templates/list. */
  template?: object
  /** Returns the contents and notes on them; undefined: not its URI. @throws AppError of the queries */
  read(uri: string, caller: Caller): Promise<readonly Contents[] | undefined>
}
