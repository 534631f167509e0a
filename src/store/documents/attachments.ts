import { invariantError } from '../invariant.ts'
import { preparedInsert } from '../prepared.ts'
import type { Row, WriteDb } from '../tables.ts'
import type { FileFields } from './documents.ts'

export type NewAttachment = FileFields & Pick<Row<'attachments'>, 'size' | 'sha256' | 'created_at'>

const insertRows = preparedInsert((db, rows: readonly NewAttachment[]) =>
  db.insertInto('attachments').values(rows).returning(['id', 'name', 'mimetype', 'sha256']),
)

/**
 * Inserts an attachment for each file and returns their ids in the order of the files. `files`: at most as many as one
 * statement takes.
 */
export async function insertAttachments(db: WriteDb, files: readonly NewAttachment[]): Promise<number[]> {
  const rows = await insertRows(
    db,
    files.map(({ name, mimetype, size, sha256, created_at }) => {
      return { name, mimetype, size, sha256, created_at }
    }),
  )
  // Engines do not guarantee the order of the ids or of the returned rows. Equal rows are interchangeable.
  const byId = rows.sort((one, other) => one.id - other.id)
  if (byId.length === files.length && byId.every((row, at) => isAlike(row, files[at])))
    return byId.map(({ id }) => id)
  const rowsByKey = Map.groupBy(byId, attachmentKey)
  return files.map((file) => {
    const row = rowsByKey.get(attachmentKey(file))?.shift()
    if (!row) throw invariantError('Upload', `stored ${rows.length} of ${files.length} attachments`)
    return row.id
  })
}

type Facts = Pick<NewAttachment, keyof FileFields | 'sha256'>

function isAlike(row: Facts, file: Facts | undefined): boolean {
  return row.sha256 === file?.sha256 && row.name === file.name && row.mimetype === file.mimetype
}

function attachmentKey({ name, mimetype, sha256 }: Facts): string {
  return JSON.stringify([sha256, mimetype, name])
}
