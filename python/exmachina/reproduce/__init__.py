"""Every figure and table of both papers, by one command each: experiments, their claims, and the page that shows them."""
