/** The shapes of answers, as types only: pages and client parts may import these, and no value of the server. */
export type { ApprovalDetail } from '../features/approval/read.ts'
export type { ApprovalRow } from '../features/approval/row.ts'
