// A resource is what a person picks for a model to read; it needs what the tool needs that gives the same.

import type { Caller, Need } from './tool.ts'

export type Contents = { mimeType: string; text: string } | { mimeType: string; blob: string }

export type Resource = {
  needs: Need
  /** As resources/list shows it; undefined for those of a template. */
  listed?: object
  /** As resources/templates/list shows it. */
  template?: object
  /** The contents, and notes on them; undefined for another address. @throws AppError like the queries of the APIs */
  read(uri: string, caller: Caller): Promise<readonly Contents[] | undefined>
}
