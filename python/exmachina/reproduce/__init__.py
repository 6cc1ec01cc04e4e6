"""Every figure and table of both papers by one command each: experiments, their claims, and the page of them all."""
