// The seed of all random choices in tests. A commit changes the constant, and CAMBISTA_SEED replaces it for one run:
// `CAMBISTA_SEED=17 node --test FILE` repeats a failure of `npm run test:long`.

/** Seed of a run: the same in every run of a commit, unless CAMBISTA_SEED is set. */
export const SEED = Number(process.env.CAMBISTA_SEED || 20261128)

if (!Number.isSafeInteger(SEED)) throw new Error('CAMBISTA_SEED is not a whole number')
