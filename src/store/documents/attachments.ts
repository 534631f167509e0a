import type { Db, Row } from '../tables.ts'

export type NewAttachment = Pick<Row<'attachments'>, 'name' | 'mimetype' | 'size' | 'sha256'>

/** Writes one for each file, and returns their ids in the order of the files: as many as one statement may have. */
export async function insertAttachments(
  db: Db,
  files: readonly NewAttachment[],
  created_at: string,
): Promise<number[]> {
  const rows = await db
    .insertInto('attachments')
    .values(files.map(({ name, mimetype, size, sha256 }) => ({ name, mimetype, size, sha256, created_at })))
    .returning(['id', 'name', 'mimetype', 'sha256'])
    .execute()
  // In which order rows get their ids, or come back, is not promised. Those that are alike stand for each other.
  const byId = rows.sort((one, other) => one.id - other.id)
  if (byId.every((row, at) => isAlike(row, files[at]))) return byId.map(({ id }) => id)
  const idsOf = Map.groupBy(byId, textOf)
  return files.flatMap((file) => idsOf.get(textOf(file))?.shift()?.id ?? [])
}

type Facts = Pick<NewAttachment, 'name' | 'mimetype' | 'sha256'>

function isAlike(row: Facts, file: Facts | undefined): boolean {
  return row.sha256 === file?.sha256 && row.name === file.name && row.mimetype === file.mimetype
}

function textOf({ name, mimetype, sha256 }: Facts): string {
  return JSON.stringify([sha256, mimetype, name])
}
