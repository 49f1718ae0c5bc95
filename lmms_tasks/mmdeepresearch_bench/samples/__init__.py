"""Sample data: six tasks with their images, reports and visual truths, and the pages that the reports cite."""
