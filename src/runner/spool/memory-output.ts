/** Output of a run before any of it is kept on disk. Past the limit the oldest bytes go. */
export interface MemoryOutput {
  readonly firstOffset: number
  readonly totalBytes: number
  write(data: Uint8Array): void
  /** Absolute offsets, within what is kept. */
  read(start: number, end: number): Buffer
}

interface Block {
  readonly offset: number
  readonly bytes: Buffer
  used: number
}

const FIRST_BLOCK_BYTES = 1_024
const LARGEST_BLOCK_BYTES = 64 * 1_024

export function createMemoryOutput(limitBytes: number): MemoryOutput {
  let blocks: Block[] = []
  let totalBytes = 0
  let droppedBefore = 0

  function roomyBlock(): Block {
    const last = blocks.at(-1)
    if (last && last.used < last.bytes.length) return last
    const size = last ? Math.min(last.bytes.length * 2, LARGEST_BLOCK_BYTES) : FIRST_BLOCK_BYTES
    const block = { offset: totalBytes, bytes: Buffer.allocUnsafe(size), used: 0 }
    blocks.push(block)
    return block
  }

  function dropOldest(): void {
    if (totalBytes - droppedBefore <= limitBytes) return
    droppedBefore = totalBytes - limitBytes
    const firstKept = blocks.findIndex((block) => block.offset + block.used > droppedBefore)
    // Moving the list for every block would cost its length each time.
    if (firstKept > blocks.length / 2) blocks = blocks.slice(firstKept)
  }

  return {
    get firstOffset() {
      return droppedBefore
    },
    get totalBytes() {
      return totalBytes
    },
    write(data) {
      for (let position = 0; position < data.byteLength; ) {
        const block = roomyBlock()
        const piece = data.subarray(position, position + block.bytes.length - block.used)
        block.bytes.set(piece, block.used)
        block.used += piece.byteLength
        position += piece.byteLength
        totalBytes += piece.byteLength
      }
      dropOldest()
    },
    read(start, end) {
      const pieces = blocks
        .filter((block) => block.offset < end && block.offset + block.used > start)
        .map((block) =>
          block.bytes.subarray(Math.max(start - block.offset, 0), Math.min(end - block.offset, block.used)),
        )
      return Buffer.concat(pieces)
    },
  }
}
