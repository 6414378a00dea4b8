import { toErrorMessage } from "../../base/error.ts"
import type { Desk } from "../../desk/desk.ts"
import type { LiveWork } from "../../desk/live-work.ts"
import { isQuestionTask } from "../../desk/question.ts"
import type { NewsOptions, TaskNews, TaskNewsDesk } from "../../desk/task-news.ts"
import { isForsaken } from "../start/away-store.ts"
import { countOf, formatAnnouncement, plain, shortId, type TaskId, toLine } from "../format/format.ts"
import { formatResultHead } from "../format/format-result.ts"
import { formatPlace } from "../format/format-worker.ts"
import { formatAsked } from "../question/inbox.ts"
import type { Screen } from "../screen/screen.ts"

const MOST_SHOWN = 20

type SessionId = Parameters<NewsOptions["isHere"]>[0]

/** Says when tasks end, when one needs an answer, and when a worker takes one that had to wait. */
export interface Announcer {
  readonly news: TaskNewsDesk
  /** Announces tasks that ended while nobody watched, says which go on, and from now on announces their ends. */
  announceLeft(conversation: SessionId): Promise<void>
  /** As `announceLeft`, for a conversation that is opened in the chat, but does not say which tasks go on. */
  announceOpened(conversation: SessionId): Promise<void>
  /** Prints the results of tasks whose ends are announced and which nobody reports. */
  showResults(taskIds: readonly TaskId[]): void
}

export interface AnnouncerOptions extends Omit<NewsOptions, "onNews"> {
  readonly desk: Pick<Desk, "tasks" | "ended" | "news">
  readonly screen: Screen
  /** Aborted once the chat no longer waits for a store that is away. */
  readonly gone: AbortSignal
  /** Called when an agent in the background has asked something, and when its question is closed. */
  readonly onQuestion: (agent: SessionId, question: TaskId, isOpen: boolean) => void
}

export function createAnnouncer(options: AnnouncerOptions): Announcer {
  const { desk, screen, isHere, areReportsOn } = options
  const news = desk.news({ isHere, areReportsOn, onNews: (one) => showNews(options, one) })
  return {
    news,
    async announceLeft(conversation) {
      await showMissed(options, conversation)
      for (const line of describeLiveWork(await news.followLive(conversation))) screen.print(line)
    },
    async announceOpened(conversation) {
      await showMissed(options, conversation)
      await news.followSession(conversation)
    },
    showResults: (taskIds) => taskIds.forEach((id) => void showResult(options, id)),
  }
}

async function showNews(options: AnnouncerOptions, news: TaskNews): Promise<void> {
  const { desk, screen, gone, onQuestion } = options
  const { style } = screen
  switch (news.type) {
    case "task.ended": {
      const head = news.isReported ? "" : formatResultHead(news.task)
      const end = formatAnnouncement(news.task, news.firstStartedAt)
      return screen.print(`${end}${head === "" ? "" : `\n${style.dim(head)}`}`)
    }
    case "task.taken": {
      const { task, worker } = news
      const where = `${worker.where === "elsewhere" ? "on " : ""}${formatPlace(worker)}`
      return screen.print(`[${shortId(task.id)}] runs now ${where}: ${toLine(task.title)}`)
    }
    case "question.opened": {
      const { task } = news.item
      if (task.session && isQuestionTask(task)) onQuestion(task.session, task.id, true)
      return screen.print(style.yellow(await formatAsked(desk, news.item, "/answer", screen)))
    }
    case "question.closed":
      if (news.task.session) onQuestion(news.task.session, news.task.id, false)
      return
    case "task.lost":
      if (isForsaken(news.error, gone)) return
      return screen.print(`[${shortId(news.taskId)}] ${plain(toErrorMessage(news.error))}`)
  }
}

/** Says which tasks ended while nobody watched. Only the latest are named; all count as announced. */
async function showMissed({ desk, screen }: AnnouncerOptions, conversation: SessionId): Promise<void> {
  const missed = await desk.ended.list(conversation)
  const hidden = missed.slice(0, -MOST_SHOWN)
  if (hidden.length > 0) screen.print(`${missed.length} tasks ended meanwhile; the last of them:`)
  for (const ended of hidden) desk.ended.acknowledge(ended)
  for (const ended of missed.slice(-MOST_SHOWN)) {
    const view = await desk.tasks.find(ended.id).catch(() => undefined)
    if (view) screen.print(`Meanwhile: ${formatAnnouncement(view.task, await desk.tasks.firstStart(view.task))}`)
    desk.ended.acknowledge(ended)
  }
}

/** Tasks that wait for a person are announced as questions. */
export function describeLiveWork(work: Omit<LiveWork, "tasks">): readonly string[] {
  const { here, queued, unclaimed, kept, hasMore } = work
  const elsewhere = work.elsewhere - (kept?.count ?? 0)
  const runs = elsewhere === 1 ? "1 task runs" : `${elsewhere}${hasMore ? " or more" : ""} tasks run`
  const keeper = `the keeper${kept?.pid ? ` (pid ${kept.pid})` : ""}`
  return [
    ...(kept ? [`kept: ${countOf(kept.count, "task")} ${kept.count === 1 ? "goes" : "go"} on with ${keeper}`] : []),
    ...(here > 0 ? [`${countOf(here, "task")} ${here === 1 ? "goes" : "go"} on from before`] : []),
    ...(queued > 0 ? [`${countOf(queued, "task")} ${queued === 1 ? "is" : "are"} queued`] : []),
    ...(unclaimed > 0 ? [`${countOf(unclaimed, "task")} ${unclaimed === 1 ? "is" : "are"} left to workers`] : []),
    ...(elsewhere > 0 ? [`${runs} elsewhere`] : []),
  ].map((line) => `${line}: see /tasks`)
}

async function showResult({ desk, screen }: AnnouncerOptions, id: TaskId): Promise<void> {
  const view = await desk.tasks.find(id).catch(() => undefined)
  const head = view ? formatResultHead(view.task) : ""
  if (head !== "") screen.print(`[${shortId(id)}] came to:\n${screen.style.dim(head)}`)
}
