/** The third version: which folder a task names, so that those who have not are not offered it. Null in what earlier ones write. */
export const FOLDER_OF_TASK = `ALTER TABLE tasks ADD COLUMN folder text COLLATE "C"`
